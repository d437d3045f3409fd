/** The orders in which memories are listed. */

export const ORDERS = ["newest", "oldest", "changed", "type", "recalled"] as const;
export type Order = (typeof ORDERS)[number];

/** The order that an address names; the usual one if it names none. */
export const orderIn = (given: string): Order => ORDERS.find((each) => each === given) ?? "newest";
