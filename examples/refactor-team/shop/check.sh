# Succeeds if every module exports what src/index.js imports. Real projects run their tests here.
status=0
for pair in cart:cartTotal coupons:applyCoupon shipping:shippingCost tax:addTax; do
  module=${pair%%:*}
  name=${pair##*:}
  if ! grep -q "export function $name(" "src/$module.js"; then
    echo "src/$module.js does not export $name"
    status=1
  fi
done
exit $status
