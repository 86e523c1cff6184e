// Reads the JSON in a row. What is no JSON is a damaged row: it is named, so that a person can look at it and delete it.
import { DamagedRowError, type RowKey } from '../failure.ts';
import type { Tables } from './tables.ts';

/** The object that was stored. Throws DamagedRowError. */
export function parsed<Value>(json: string, table: keyof Tables, key: RowKey): Value {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new DamagedRowError(table, key);
  }
  if (typeof value !== 'object' || value === null) throw new DamagedRowError(table, key);
  return value as Value;
}
