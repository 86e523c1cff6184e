// The configuration in force, and its effect on one mailbox: whether it is guarded, and by which policy.

import { type ListedMailbox, type MailboxState, mergedTags, type Tags, tagParts } from '../core/mailbox.ts';
import { type MailboxPattern, namesMailbox } from '../core/mailbox-pattern.ts';
import { defaultPolicy, literalProfile, type Policy } from '../core/policy.ts';
import { formatPath, type Path } from '../world/schema/problem.ts';
import type { AccountConfig, Config, GuardOverride, GuardSettings } from './config.ts';

/** Exclusion takes precedence. */
export function selects(account: Pick<AccountConfig, 'mailboxes'>, mailbox: ListedMailbox): boolean {
  const { include, exclude } = account.mailboxes;
  return (
    include.some((pattern) => namesMailbox(pattern, mailbox)) &&
    !exclude.some((pattern) => namesMailbox(pattern, mailbox))
  );
}

/** Mailboxes that the include list names individually, by address or id: each is expected in the mailbox list. */
export function expectedNames({
  mailboxes: { include, exclude },
}: Pick<AccountConfig, 'mailboxes'>): readonly string[] {
  const isExcluded = (name: string) => exclude.some((pattern) => namesMailbox(pattern, { id: name, email: name }));
  return include.filter((name) => !/[*?]/.test(name) && !isExcluded(name));
}

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

export function routePatterns(alerts: Pick<Config['alerts'], 'routes' | 'digests'>): readonly MailboxPattern[] {
  return (['routes', 'digests'] as const).flatMap((key) =>
    alerts[key].flatMap(({ match }, index) =>
      (match.mailbox ?? []).map((pattern) => at(['alerts', key, index, 'match', 'mailbox'], pattern)),
    ),
  );
}

function at(path: Path, pattern: string): MailboxPattern {
  return { place: formatPath(path), pattern };
}

interface GuardedByOverrides {
  readonly guard: GuardSettings;
  readonly overrides: readonly Pick<GuardOverride, 'match' | 'guard'>[];
}

/** Policy of the mailboxes without an override, of the guard that was asked for last. */
let usual: { readonly guard: GuardSettings; readonly policy: Policy } | null = null;

/** Policy of a mailbox: the account's guard, then every override that matches, in order. */
export function resolvePolicy({ guard, overrides }: GuardedByOverrides, mailbox: ListedMailbox): Policy {
  const matching = overrides.filter(({ match }) => namesMailbox(match, mailbox));
  if (matching.length === 0) {
    if (usual?.guard !== guard) usual = { guard, policy: policyOf(guard) };
    return usual.policy;
  }
  return policyOf(matching.reduce((settings, override) => mergeGuard(settings, override.guard), guard));
}

export function tagsOf(account: Pick<AccountConfig, 'tags' | 'overrides'>, mailbox: ListedMailbox): readonly string[] {
  const matching = account.overrides.filter(({ match, tags }) => tags.length > 0 && namesMailbox(match, mailbox));
  return matching.length === 0 ? account.tags : mergedTags(account.tags, ...matching.map(({ tags }) => tags));
}

const noRules = { tags: [], overrides: [] } as const;
const mappings = ['emergency', 'maxInterventions', 'restore', 'breaker', 'limitsPpm'] as const;

/** Merges `later` over `earlier`, key by key, also inside the mappings. */
function mergeGuard<Earlier extends GuardSettings | Policy>(earlier: Earlier, later: GuardSettings): Earlier {
  const merged = mappings.map((key) => [key, { ...earlier[key], ...later[key] }]);
  return { ...earlier, ...later, ...Object.fromEntries(merged) };
}

/** Policy of settings: the defaults, then the profile's changes, then the explicit keys. */
export function policyOf({ profile, ...explicit }: GuardSettings): Policy {
  const policy = mergeGuard<Policy>({ ...defaultPolicy, ...(profile === 'literal' ? literalProfile : {}) }, explicit);
  // A written number raises a default, or a number of another section, that contradicts it.
  const { windowDays, breaker } = policy;
  return {
    ...policy,
    windowMaxDays: Math.max(policy.windowMaxDays, windowDays),
    breaker: { ...breaker, maxMailboxes: Math.max(breaker.maxMailboxes, breaker.minMailboxes) },
  };
}

/** The configuration in force, which a reload replaces and every loop reads each time. */
export class LiveConfig {
  #config: Config;
  /** Tags by mailbox, since routes and silences ask often. */
  readonly #tags = new Map<string, readonly string[]>();

  constructor(config: Config) {
    this.#config = config;
  }

  replace(config: Config): void {
    this.#config = config;
    this.#tags.clear();
  }

  get config(): Config {
    return this.#config;
  }

  account(name: string): AccountConfig | undefined {
    return this.config.accounts.find((account) => account.name === name);
  }

  /** The defaults if the account is not configured. */
  policyOf(mailbox: Pick<MailboxState, 'account' | 'email' | 'id'>): Policy {
    const account = this.account(mailbox.account);
    return account ? resolvePolicy(account, mailbox) : policyOf({});
  }

  readonly tags: Tags = {
    all: () => {
      const of = ({ tags, overrides }: AccountConfig) => [...tags, ...overrides.flatMap((override) => override.tags)];
      return [...new Set(this.config.accounts.flatMap(of))].sort();
    },
    of: (mailbox) => {
      const key = `${mailbox.account}/${mailbox.id}/${mailbox.email}`;
      const known = this.#tags.get(key) ?? tagsOf(this.account(mailbox.account) ?? noRules, mailbox);
      this.#tags.set(key, known);
      return known;
    },
    ofAccount: (name) => this.account(name)?.tags ?? [],
    choicesOf: (name) => {
      const { tags, overrides }: Pick<AccountConfig, 'tags' | 'overrides'> = this.account(name) ?? noRules;
      const given = [...tags, ...overrides.flatMap((override) => override.tags)];
      return tags.map((tag) => given.filter((one) => tagParts(one)[0] === tagParts(tag)[0]));
    },
  };

  accountsOf(baseUrl: string): readonly string[] {
    return this.config.accounts.filter((account) => account.baseUrl === baseUrl).map(({ name }) => name);
  }
}
