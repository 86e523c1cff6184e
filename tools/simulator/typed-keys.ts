// `--key` of `warmwarden simulator`: which keys it accepts, with which plan and permissions, and about which mailboxes.
import { InvalidArgumentError } from 'commander';
import { demoKey, type SimulatedKey } from './keys.ts';
import type { LimiterKind } from './rate-limit.ts';

export const plans = ['free', 'pro', 'enterprise'] as const;
type Plan = (typeof plans)[number];

/** A key as it was typed: `KEY`, or `KEY,enterprise,read-only,*@b.example`. */
export interface TypedKey {
  readonly key: string;
  /** null: what --plan says. */
  readonly plan: Plan | null;
  readonly readOnly: boolean;
  /** Globs on addresses; none: the whole fleet. */
  readonly mailboxes: readonly string[];
}

/** Adds a key to those before it. Throws what commander shows beside the option. */
export function withKey(text: string, before: readonly TypedKey[] = []): readonly TypedKey[] {
  const [key = '', ...words] = text.split(',');
  if (!/^sk_live_\S+$/.test(key)) throw new InvalidArgumentError('It must begin with sk_live_.');
  if (before.some((one) => one.key === key)) throw new InvalidArgumentError('The key is given twice.');
  const isPlan = (word: string): word is Plan => plans.some((plan) => plan === word);
  const mailboxes = words.filter((word) => word.includes('@') || word.includes('*'));
  const strange = words.find((word) => !isPlan(word) && word !== 'read-only' && !mailboxes.includes(word));
  if (strange !== undefined) {
    throw new InvalidArgumentError(
      `"${strange}" is not ${plans.join(', ')}, read-only or a pattern of addresses such as *@b.example.`,
    );
  }
  const plan = words.find(isPlan) ?? null;
  return [...before, { key, plan, readOnly: words.includes('read-only'), mailboxes }];
}

/** The options that say what every key may do, and which keys there are. */
export interface KeyFlags {
  readonly plan: Plan;
  readonly readOnly: boolean;
  readonly limiter: LimiterKind;
  readonly habits: boolean;
}

/** With --habits, another key of the same workspace. */
const secondKey = 'sk_live_other_0123456789abcdef';

/** The keys as the simulator takes them; the demo's without any. */
export function simulatedKeys(
  typed: readonly TypedKey[],
  { plan, readOnly, limiter, habits }: KeyFlags,
): readonly SimulatedKey[] {
  const own = habits ? withKey(secondKey, withKey(demoKey)) : withKey(demoKey);
  const keys = typed.length > 0 ? typed : own;
  return keys.map((one) => ({
    key: one.key,
    limiter,
    plan: one.plan ?? plan,
    permissions: readOnly || one.readOnly ? ['read'] : ['read', 'write'],
    mailboxes: one.mailboxes.length > 0 ? one.mailboxes : ['*'],
  }));
}
