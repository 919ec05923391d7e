export function shippingCost(total, country) {
  var cost = 9;
  if (country === "CH") {
    cost = 5;
  }
  if (total > 100) {
    cost = 0;
  }
  return cost;
}
