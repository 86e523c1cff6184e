// Whole numbers that stay exact however large they get: a plain number for as long as it is one, for that takes no memory. Pure.

export type Exact = number | bigint;

/** The same number, plain where that is exact. */
function exact(value: bigint): Exact {
  const plain = Number(value);
  return Number.isSafeInteger(plain) ? plain : value;
}

export function sumOf(one: Exact, other: Exact): Exact {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return exact(BigInt(one) + BigInt(other));
}

export function productOf(one: Exact, other: Exact): Exact {
  if (typeof one === 'number' && typeof other === 'number') {
    const product = one * other;
    if (Number.isSafeInteger(product)) return product;
  }
  return exact(BigInt(one) * BigInt(other));
}
