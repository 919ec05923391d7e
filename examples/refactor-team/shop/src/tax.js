export function addTax(total, rate) {
  var tax = (total * rate) / 100;
  var withTax = total + tax;
  return withTax;
}
