export interface Order {
  id: string;
  status: "packing" | "shipped" | "delivered";
  items: { sku: string; count: number }[];
  totalUsd: number;
}

/** Orders of a new shop. */
export const sampleOrders: readonly Order[] = [
  { id: "A100", status: "delivered", items: [{ sku: "lantern", count: 2 }], totalUsd: 84 },
  { id: "A101", status: "shipped", items: [{ sku: "desk-lamp", count: 1 }], totalUsd: 59.5 },
  { id: "A102", status: "packing", items: [{ sku: "fairy-lights", count: 3 }], totalUsd: 36 },
];

export const sampleStock: Readonly<Record<string, number>> = { lantern: 12, "desk-lamp": 0, "fairy-lights": 140 };
