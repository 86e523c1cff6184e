// Failures of the store, explained to people: the cause and the remedy.
import { dirname } from 'node:path';
import { errorText } from '../core/nearest.ts';
import type { StoreFailure } from '../core/store-failure.ts';
import type { Tables } from './schema/tables.ts';

/** The message is one sentence for the operator. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

export class HeldStoreError extends StoreError {
  /** `process 123 on host, since ...`, or `another process`. */
  readonly holder: string;

  constructor(file: string, holder: string) {
    super(
      `The store ${file} is in use by ${holder}: only one Warmwarden may use it at a time. Stop that process first, or see what it does with \`warmwarden status\`.`,
    );
    this.holder = holder;
  }
}

/** A write that Warmwarden refused: SQLite would have accepted it, but it would have been lost or had no effect. */
export class AtRiskError extends StoreError {
  readonly remedy: string;

  constructor(said: string, remedy: string) {
    super(said);
    this.remedy = remedy;
  }
}

/** Another process has the lease. The store is intact, and this process ends. */
export class NotOursError extends AtRiskError {}

export function movedError(file: string): AtRiskError {
  return new AtRiskError(
    `${file} was deleted or replaced while Warmwarden was running: what Warmwarden writes now would be lost`,
    `Move the original ${file} back with \`mv\`, and Warmwarden continues. Do not use \`cp\`: a copy lacks the newest changes. If the original no longer exists, stop Warmwarden, put a backup there, and start Warmwarden. After a restart, Warmwarden uses the file that is there then. If there is none, it creates a new, empty store, without the earlier actions and silences.`,
  );
}

/** SQLite copies the WAL's content into the store at an orderly end. */
export function lostWalError(file: string): AtRiskError {
  return new AtRiskError(
    `${file} was deleted or replaced while Warmwarden was running: what Warmwarden writes now would be lost`,
    'Restart Warmwarden with SIGTERM, as `systemctl restart` does, and not with kill -9: as it ends, it copies what the lost file held into the store.',
  );
}

export type RowKey = Readonly<Record<string, string | number>>;

export class DamagedRowError extends StoreError {
  /** SQL that deletes the row, or null if its key is not safe to paste into a shell. */
  readonly deletion: string | null;
  readonly table: keyof Tables;

  constructor(table: keyof Tables, key: RowKey) {
    const where = Object.entries(key).map(([column, value]) => `${column} = ${literal(value)}`);
    super(`a row of the table ${table} can't be read (${where.join(', ')})`);
    this.table = table;
    const isSafe = Object.values(key).every((value) => /^[\w .:/@|+-]*$/.test(String(value)));
    this.deletion = isSafe ? `DELETE FROM ${table} WHERE ${where.join(' AND ')}` : null;
  }
}

/** SQLite's codes for a lock of another process: on the file, and on the index of its WAL. */
const locked = [5, 15];
const readOnly = [3, 8, 14, 23];
const ioError = 10;
/** SQLite's codes for a malformed page, and for a file that is no database. */
const corrupt = 11;
const damage = [corrupt, 26];
/** SQLite's code for a statement that it can't run: a mistake of Warmwarden, or a table that somebody deleted. */
const notRun = 1;
const full = 13;
/** Extended result code: the disk has no space for the index of the WAL. */
const fullForIndex = 4874;

function codeOf(error: unknown): number | null {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  if (code === fullForIndex) return full;
  return typeof code === 'number' ? code & 0xff : null;
}

export function isFull(error: unknown): boolean {
  return codeOf(error) === full;
}

export function refusalOf(error: unknown): StoreFailure | null {
  return error instanceof AtRiskError
    ? { said: error.message, remedy: error.remedy, lasting: false, untilWritten: true }
    : null;
}

export class DamagedFileError extends StoreError {
  readonly errcode = corrupt;
}

/** The disk did not take what was committed: the process ends, and the next one reads what is stored. */
export class LostWritesError extends StoreError {
  readonly errcode = ioError;

  constructor(said: string) {
    super(`the disk did not store the newest changes: ${said}`);
  }
}

export function isDamage(error: unknown): boolean {
  return damage.includes(codeOf(error) ?? 0);
}

function isPartMissing(error: unknown): boolean {
  return codeOf(error) === notRun && /^no such (table|column)|has no column/.test(errorText(error));
}

export function failureOf(file: string, error: unknown): StoreFailure {
  const said = errorText(error);
  if (error instanceof DamagedRowError) return { said, remedy: deletionOf(file, error), lasting: true };
  const code = codeOf(error);
  const isLost = error instanceof LostWritesError;
  const lasting = isLost || isDamage(error) || isPartMissing(error);
  const mayPass = locked.includes(code ?? 0);
  const remedy = remedyOf(file, code, error);
  return { said, remedy, lasting, ...(mayPass && { mayPass }), ...(isLost && { endsProcess: true }) };
}

function remedyOf(file: string, code: number | null, error: unknown): string {
  if (code === null && !(error instanceof StoreError)) return 'The log has the cause: please report it.';
  if (code === full) return `Free up space on the disk of ${file}; Warmwarden then continues by itself.`;
  if (locked.includes(code ?? 0)) return `Another process has locked ${file}: find it with \`fuser ${file}\`.`;
  if (code === ioError) return `Check the disk of ${file}: reading or writing it fails.`;
  if (readOnly.includes(code ?? 0))
    return `Make ${file} and its folder ${dirname(file)} writable for Warmwarden's user.`;
  if (isDamage(error)) return damaged(file);
  if (isPartMissing(error))
    return `A part of ${file} was deleted: stop Warmwarden, put a backup in its place, and start Warmwarden again. A start without the file begins with an empty store.`;
  return `Check ${file} and its folder ${dirname(file)}; the log has the cause.`;
}

export function deletionOf(file: string, { deletion }: DamagedRowError): string {
  const advice = `Stop Warmwarden, and put a backup in the place of ${file}, or keep a copy of it and delete the row`;
  return deletion === null ? `${advice}.` : `${advice}: sqlite3 ${file} "${deletion}"`;
}

const damaged = (file: string) =>
  `${file} is damaged: stop Warmwarden, move the file away with its -wal and -shm files, put a backup in its place if there is one, and start Warmwarden again.`;

function literal(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
