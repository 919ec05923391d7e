export function applyCoupon(total, coupon) {
  var percent = coupon && coupon.percent ? coupon.percent : 0;
  var reduced = total - (total * percent) / 100;
  return reduced;
}
