// What a message is about, as the text of a column: a list of names, and behind them the marks of a storm in base64.
import type { About, Marks } from '../../model/alert-marks.ts';
import { DamagedRowError } from '../failure.ts';
import { parsed } from './parsed.ts';

/** Behind the names, what the marks are stored as, in base64. No fingerprint begins with it. */
const marksPrefix = 'marks|';

export function aboutText({ alerts, marks }: About): string {
  if (!marks) return JSON.stringify(alerts);
  const bytes = Buffer.from(marks.buffer, marks.byteOffset, marks.byteLength);
  return JSON.stringify([...alerts, `${marksPrefix}${bytes.toString('base64')}`]);
}

/** `id`: that of the delivery. Throws DamagedRowError. */
export function storedAbout(text: string, id: string): About {
  const names = parsed<unknown>(text, 'deliveries', { id });
  if (!isNames(names)) throw new DamagedRowError('deliveries', { id });
  const last = names.at(-1);
  if (!last?.startsWith(marksPrefix)) return { alerts: names };
  const marks = marksOf(last.slice(marksPrefix.length));
  if (!marks) throw new DamagedRowError('deliveries', { id });
  return { alerts: names.slice(0, -1), marks };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

/** null: the text is not the base64 of whole numbers. */
function marksOf(base64: string): Marks | null {
  // A copy of its own: numbers of eight bytes begin at a multiple of eight.
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  // What is no base64 is passed over in reading: then there are fewer bytes than the text has room for.
  const isWhole =
    bytes.length % Float64Array.BYTES_PER_ELEMENT === 0 && base64.length === Math.ceil(bytes.length / 3) * 4;
  return isWhole ? new Float64Array(bytes.buffer) : null;
}
