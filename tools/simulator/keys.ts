// API keys: who may ask, what for, how often, and about which mailboxes.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../src/world/world.ts';
import type { Mailbox } from './mailbox.ts';
import { matchesAddress } from './pattern.ts';
import { createLimiter, type Limiter, type LimiterKind } from './rate-limit.ts';

/** A key as whoever starts the simulator names it. */
export interface SimulatedKey {
  /** Begins with sk_live_. */
  readonly key: string;
  readonly permissions: readonly ('read' | 'write')[];
  readonly plan: 'free' | 'pro' | 'enterprise';
  /** Instead of the plan's 100 or 500. */
  readonly requestsPerMinute?: number;
  /** How its requests are counted. Default: sliding. */
  readonly limiter?: LimiterKind;
  /** Globs on the addresses of its own mailboxes. Default: all for the first key, none for the others. */
  readonly mailboxes?: readonly string[];
}

/** The key that a simulator accepts when none is given: read and write, plan pro, the whole fleet. */
export const demoKey = 'sk_live_demo_0123456789abcdef';

/** A key as the simulator keeps it: hashed, as the document demands (section 5). */
export interface Caller {
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
  readonly permissions: ReadonlySet<'read' | 'write'>;
  readonly plan: SimulatedKey['plan'];
  readonly limiter: Limiter;
  owns(mailbox: Mailbox): boolean;
}

const prefix = 'sk_live_';

/** The free plan has no access; its refusals are counted like the pro plan's answers. */
const requestsPerMinute = { free: 100, pro: 100, enterprise: 500 } as const;

/** Throws an Error when a key lacks the prefix or allows no requests. `limiterClock` measures the rate limit's minute. */
export function callersOf(keys: readonly SimulatedKey[], limiterClock: Clock): Caller[] {
  return keys.map((key, index) => {
    const limit = key.requestsPerMinute ?? requestsPerMinute[key.plan];
    if (!key.key.startsWith(prefix)) throw new Error(`an API key must start with ${prefix}`);
    if (!Number.isInteger(limit) || limit < 1) throw new Error('requestsPerMinute must be a positive integer');
    const hash = sha256(key.key);
    const globs = key.mailboxes ?? (index === 0 ? ['*'] : []);
    return {
      hash,
      permissions: new Set(key.permissions),
      plan: key.plan,
      limiter: createLimiter(key.limiter ?? 'sliding', limit, limiterClock),
      owns: (mailbox) => mailbox.createdBy === hash || globs.some((glob) => matchesAddress(glob, mailbox.email)),
    };
  });
}

/** The caller behind an Authorization header; undefined when it names no key of ours. */
export function callerOf(callers: readonly Caller[], authorization: string | undefined): Caller | undefined {
  const [, key] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (!key?.startsWith(prefix)) return undefined;
  const presented = Buffer.from(sha256(key), 'hex');
  let found: Caller | undefined;
  // Every key is compared, so that the time taken tells nothing about which one matched.
  for (const caller of callers) if (timingSafeEqual(presented, Buffer.from(caller.hash, 'hex'))) found = caller;
  return found;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
