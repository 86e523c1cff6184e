// What an account's configuration means for one mailbox: whether it is guarded, and by which policy.

import { type MailboxPattern, namesMailbox } from '../core/mailbox-pattern.ts';
import { defaultPolicy, literalProfile, type Policy } from '../core/policy.ts';
import { formatPath, type Path } from '../schema/problem.ts';
import type { AccountConfig, Config, GuardOverride, GuardSettings, RouteConfig } from './config.ts';
import { profiled, type Setting } from './settings.ts';

export interface MailboxName {
  readonly email: string;
  readonly id: string;
}

/** Whether the account's include and exclude lists leave the mailbox to us. Exclusion wins. */
export function selects(account: Pick<AccountConfig, 'mailboxes'>, mailbox: MailboxName): boolean {
  const { include, exclude } = account.mailboxes;
  return (
    include.some((pattern) => namesMailbox(pattern, mailbox)) &&
    !exclude.some((pattern) => namesMailbox(pattern, mailbox))
  );
}

/** The mailboxes that the include list names one by one, by address or id: each is expected to be in the mailbox list. */
export function expectedNames({
  mailboxes: { include, exclude },
}: Pick<AccountConfig, 'mailboxes'>): readonly string[] {
  const isExcluded = (name: string) => exclude.some((pattern) => namesMailbox(pattern, { id: name, email: name }));
  return include.filter((name) => !/[*?]/.test(name) && !isExcluded(name));
}

/** The patterns by which an account means its mailboxes, with their places in the file. */
export function patternsOf({ accounts }: Pick<Config, 'accounts'>, name: string): readonly MailboxPattern[] {
  const index = accounts.findIndex((account) => account.name === name);
  const account = accounts[index];
  if (!account) return [];
  const { mailboxes, overrides } = account;
  const listed = (key: 'include' | 'exclude') =>
    mailboxes[key].map((pattern, position) => at(['accounts', index, 'mailboxes', key, position], pattern));
  return [
    ...listed('include'),
    ...listed('exclude'),
    ...overrides.map(({ match }, position) => at(['accounts', index, 'overrides', position, 'match'], match)),
  ];
}

/** Patterns by which routes mean mailboxes, of whatever account. */
export function routePatterns(routes: readonly RouteConfig[]): readonly MailboxPattern[] {
  return routes.flatMap(({ match }, index) =>
    (match.mailbox ?? []).map((pattern) => at(['alerts', 'routes', index, 'match', 'mailbox'], pattern)),
  );
}

function at(path: Path, pattern: string): MailboxPattern {
  return { place: formatPath(path), pattern };
}

interface GuardedByOverrides {
  readonly guard: GuardSettings;
  readonly overrides: readonly Pick<GuardOverride, 'match' | 'guard'>[];
}

/** The mailbox's policy: the account's guard, then every override that matches, in order. */
export function resolvePolicy({ guard, overrides }: GuardedByOverrides, mailbox: MailboxName): Policy {
  const matching = overrides.filter(({ match }) => namesMailbox(match, mailbox));
  return policyOf(matching.reduce((settings, override) => mergeGuard(settings, override.guard), guard));
}

/** The account's, then those of every override that matches; each once. */
export function tagsOf(account: Pick<AccountConfig, 'tags' | 'overrides'>, mailbox: MailboxName): readonly string[] {
  const matching = account.overrides.filter(({ match, tags }) => tags.length > 0 && namesMailbox(match, mailbox));
  return [...new Set([...account.tags, ...matching.flatMap(({ tags }) => tags)])];
}

/** `later` over `earlier`, key by key, also inside emergency, breaker and the like. */
export function mergeGuard(earlier: GuardSettings, later: GuardSettings): GuardSettings {
  return {
    ...earlier,
    ...later,
    emergency: { ...earlier.emergency, ...later.emergency },
    maxInterventions: { ...earlier.maxInterventions, ...later.maxInterventions },
    restore: { ...earlier.restore, ...later.restore },
    breaker: { ...earlier.breaker, ...later.breaker },
    limitsPpm: { ...earlier.limitsPpm, ...later.limitsPpm },
  };
}

/** Defaults, over them what the profile changes, over that the explicit keys. The window never exceeds its maximum. */
export function policyOf(settings: GuardSettings): Policy {
  const { profile, ...explicit } = settings;
  const policy = {
    ...defaultPolicy,
    ...(profile === 'literal' ? literalProfile : {}),
    ...explicit,
    emergency: { ...defaultPolicy.emergency, ...explicit.emergency },
    maxInterventions: { ...defaultPolicy.maxInterventions, ...explicit.maxInterventions },
    restore: { ...defaultPolicy.restore, ...explicit.restore },
    breaker: { ...defaultPolicy.breaker, ...explicit.breaker },
    limitsPpm: { ...defaultPolicy.limitsPpm, ...explicit.limitsPpm },
  };
  // loadConfig refuses a window above its maximum in the guard and in every override; two overrides together can still make one.
  return { ...policy, windowMaxDays: Math.max(policy.windowMaxDays, policy.windowDays) };
}

// The guard settings in force for one mailbox, each with its origin: guard, then every override that matches.

/** What one account makes of a mailbox. */
export interface MailboxSettings {
  readonly account: string;
  readonly guarded: boolean;
  /** Paths begin with guard; the origin of an override's key is its line. */
  readonly settings: readonly Setting[];
}

/** One entry an account. */
export function settingsFor(
  mailbox: MailboxName,
  config: Config,
  settings: readonly Setting[],
): readonly MailboxSettings[] {
  return config.accounts.map((account, index) => {
    const inForce = new Map<string, Setting>();
    const take = (prefix: string) => {
      for (const setting of settings) {
        const at = formatPath(setting.path);
        if (!at.startsWith(`${prefix}.`)) continue;
        const path = setting.path.slice(setting.path.lastIndexOf('guard'));
        inForce.set(formatPath(path), { ...setting, path });
      }
    };
    take('guard');
    for (const [position, { match }] of account.overrides.entries())
      if (namesMailbox(match, mailbox)) take(`accounts[${index}].overrides[${position}].guard`);
    return { account: account.name, guarded: selects(account, mailbox), settings: profiled([...inForce.values()]) };
  });
}
