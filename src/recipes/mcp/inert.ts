// Makes what strangers wrote inert: no control or direction characters, no endless text, no nesting without bound.
import { visibleText } from '../../core/wording/phrases.ts';

const maxTextCharacters = 4_000;
const maxDepth = 6;
const maxItems = 200;

/** A text on its own: visible, and cut with a word on how much is missing. */
export function inertText(text: string, maxCharacters = maxTextCharacters): string {
  const characters = [...text.slice(0, 2 * maxCharacters + 2)];
  if (characters.length <= maxCharacters) return visibleText(text);
  const kept = characters.slice(0, maxCharacters).join('');
  return `${visibleText(kept)}... [cut: ${text.length - kept.length} characters more]`;
}

/** A row of a result. What is no object stands under `value`. */
export function inertRow(row: unknown): Readonly<Record<string, unknown>> {
  const value = inertValue(row, 0);
  const object = typeof value === 'object' && value !== null && !Array.isArray(value);
  return object ? (value as Record<string, unknown>) : { value };
}

function inertValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return inertText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '[nested too deep to show]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => inertValue(item, depth + 1));
  const entries = Object.entries(value).slice(0, maxItems);
  return Object.fromEntries(entries.map(([key, item]) => [inertText(key, 200), inertValue(item, depth + 1)]));
}
