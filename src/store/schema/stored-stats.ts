// Statistics as one short text: a mailbox has thirty days of them, and each answer that differs is written. Beside them stands the
// verdict on them, so that the row of the decision need not be written with each of them.
import type { Observed, StatsAnswer } from '../../core/answers.ts';
import { PackedStats } from '../../core/packed-stats.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { DamagedRowError, type RowKey } from '../failure.ts';
import { parsed, type StoredVerdict, verdictFrom, verdictText } from './stored.ts';

/** Packed rows, and the newest verdict when they were written. */
interface JudgedStats {
  readonly rows: string | null | undefined;
  readonly judgedAt: EpochMs;
  readonly verdict: StoredVerdict;
}

/** `{"rows":"...","judgedAt":1772626200000,"verdict":{...}}`; before they were judged, the rows alone, as they are in memory. */
export function statsText(stats: StatsAnswer, judged: Observed<Verdict> | null): string {
  const { text } = PackedStats.of(stats);
  return judged ? `{"rows":${text},"judgedAt":${judged.at},"verdict":${verdictText(judged.answer)}}` : text;
}

/** Statistics, and the verdict beside them. */
export interface ReadStats {
  readonly stats: StatsAnswer;
  readonly judged: Observed<Verdict> | null;
}

/** `key`: that of the observation's row. Throws DamagedRowError. */
export function readStats(text: string, key: RowKey): ReadStats {
  const packed = PackedStats.fromText(text);
  if (packed) return { stats: packed, judged: null };
  const { rows, judgedAt: at, verdict } = parsed<JudgedStats>(text, 'observations', key);
  const stats = rows === undefined ? null : PackedStats.fromText(JSON.stringify(rows));
  const isVerdict = typeof verdict === 'object' && verdict !== null;
  if (!stats || !Number.isFinite(at) || !isVerdict) throw new DamagedRowError('observations', key);
  return { stats, judged: { at, answer: verdictFrom(verdict) } };
}
