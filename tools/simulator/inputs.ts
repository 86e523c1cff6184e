// What callers send: checked by hand, and refused with a sentence that says what is wanted.
import { maxStatsDays } from './day-row.ts';
import { type WarmupMode, warmupModes } from './ramp.ts';
import { Refusal } from './refusal.ts';
import type { Provider } from './scenario.ts';
import type { ConfigChange, WarmupConfig } from './warmup-config.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const defaultStatsDays = 7;

/** The document gives no bounds for config fields; these are the ones that make sense. */
const bounds = {
  target_daily_limit: [1, 100],
  reply_rate: [0, 100],
  send_window_start: [0, 23],
  send_window_end: [1, 24],
} as const;

type BoundedField = keyof typeof bounds;

/** Reads `days` of a query. Throws a Refusal (400). */
export function readDays(text: string | null): number {
  if (text === null) return defaultStatsDays;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > maxStatsDays) throw new Refusal(400, `days must be an integer from 1 to ${maxStatsDays}`);
  return days;
}

/** Reads `refresh` of a query. Throws a Refusal (400). */
export function readRefresh(text: string | null): boolean {
  if (text !== null && text !== 'true' && text !== 'false') throw new Refusal(400, 'refresh must be true or false');
  return text === 'true';
}

/** Reads a body that must be a JSON object. Throws a Refusal (400). */
export function readJsonObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(400, 'the request body must be valid JSON');
  }
  if (!isObject(value)) throw new Refusal(400, 'the request body must be a JSON object');
  return value;
}

/** Reads the config of update_config; `current` completes the send window. Throws a Refusal (400). */
export function readConfigChange(value: unknown, current: WarmupConfig): ConfigChange {
  if (!isObject(value)) throw new Refusal(400, 'update_config needs a config object');
  if (Object.keys(value).length === 0) throw new Refusal(400, 'config must have at least one field');
  for (const field of Object.keys(value)) {
    if (field !== 'warmup_mode' && !Object.hasOwn(bounds, field))
      throw new Refusal(400, `config.${field} cannot be updated`);
  }
  const change: { -readonly [Field in keyof ConfigChange]: ConfigChange[Field] } = {};
  if ('warmup_mode' in value) change.mode = readMode(value['warmup_mode']);
  if ('target_daily_limit' in value) change.targetDailyLimit = bounded(value, 'target_daily_limit');
  if ('reply_rate' in value) change.replyRate = bounded(value, 'reply_rate');
  if ('send_window_start' in value) change.windowStart = bounded(value, 'send_window_start');
  if ('send_window_end' in value) change.windowEnd = bounded(value, 'send_window_end');
  if ((change.windowStart ?? current.windowStart) >= (change.windowEnd ?? current.windowEnd)) {
    throw new Refusal(400, 'config.send_window_start must be before config.send_window_end');
  }
  return change;
}

/** What is kept of a creation: the secrets are not. */
export interface NewMailbox {
  readonly email: string;
  readonly provider: Provider;
}

/** Reads the creation input; every documented field is required. Throws a Refusal (400). */
export function readNewMailbox(body: JsonObject): NewMailbox {
  const email = readText(body, 'email');
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) throw new Refusal(400, 'email must be an email address');
  for (const field of ['smtp_user', 'smtp_pass', 'imap_host', 'imap_user', 'imap_pass']) readText(body, field);
  for (const field of ['smtp_port', 'imap_port']) {
    if (!isWithin(body[field], 1, 65_535)) throw new Refusal(400, `${field} must be an integer from 1 to 65535`);
  }
  return { email, provider: providerOf(readText(body, 'smtp_host')) };
}

/** Reads a required text of at most 320 characters, as long as an address can be. Throws a Refusal (400). */
export function readText(body: JsonObject, field: string): string {
  const value = body[field];
  if (typeof value !== 'string' || value === '') throw new Refusal(400, `${field} is required and must be a string`);
  if (value.length > 320) throw new Refusal(400, `${field} must not be longer than 320 characters`);
  return value;
}

function readMode(value: unknown): WarmupMode {
  const mode = warmupModes.find((one) => one === value);
  if (!mode) throw new Refusal(400, `config.warmup_mode must be one of ${warmupModes.join(', ')}`);
  return mode;
}

function bounded(config: JsonObject, field: BoundedField): number {
  const value = config[field];
  const [least, most] = bounds[field];
  if (!isWithin(value, least, most)) {
    throw new Refusal(400, `config.${field} must be an integer from ${least} to ${most}`);
  }
  return value;
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function providerOf(smtpHost: string): Provider {
  if (/(gmail|google)/i.test(smtpHost)) return 'google';
  if (/(outlook|office365|microsoft)/i.test(smtpHost)) return 'microsoft';
  return /zoho/i.test(smtpHost) ? 'zoho' : 'custom';
}
