import { cartTotal } from "./cart.js";
import { applyCoupon } from "./coupons.js";
import { shippingCost } from "./shipping.js";
import { addTax } from "./tax.js";

export function checkout(items, { coupon, country, rate }) {
  const total = applyCoupon(cartTotal(items), coupon);
  return addTax(total + shippingCost(total, country), rate);
}
