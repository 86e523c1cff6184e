// The configuration in force, which a reload replaces and every loop reads each time.
import type { MailboxState } from '../core/mailbox.ts';
import type { Policy } from '../core/policy.ts';
import type { AccountConfig, Config } from './config.ts';
import type { ValidConfig } from './load.ts';
import { policyOf, resolvePolicy, tagsOf } from './mailbox-rules.ts';
import type { Setting } from './settings.ts';

type InForce = Pick<ValidConfig, 'config' | 'settings'>;

export class LiveConfig {
  #inForce: InForce;

  constructor(inForce: InForce) {
    this.#inForce = inForce;
  }

  get config(): Config {
    return this.#inForce.config;
  }

  account(name: string): AccountConfig | undefined {
    return this.config.accounts.find((account) => account.name === name);
  }

  /** Policy of a mailbox; the defaults if its account is not configured. */
  policyOf(mailbox: Pick<MailboxState, 'account' | 'email' | 'id'>): Policy {
    const account = this.account(mailbox.account);
    return account ? resolvePolicy(account, mailbox) : policyOf({});
  }

  /** Tags in use, in alphabetical order. */
  get tags(): readonly string[] {
    const of = ({ tags, overrides }: AccountConfig) => [...tags, ...overrides.flatMap((override) => override.tags)];
    return [...new Set(this.config.accounts.flatMap(of))].sort();
  }

  /** Tags of a mailbox; empty if its account is not configured. */
  tagsOf(mailbox: Pick<MailboxState, 'account' | 'email' | 'id'>): readonly string[] {
    const account = this.account(mailbox.account);
    return account ? tagsOf(account, mailbox) : [];
  }

  /** Names of the accounts under a base_url, in the order of the file. */
  accountsOf(baseUrl: string): readonly string[] {
    return this.config.accounts.filter((account) => account.baseUrl === baseUrl).map(({ name }) => name);
  }

  /** Configuration for people, without secrets. */
  get settings(): readonly Setting[] {
    return this.#inForce.settings;
  }

  replace(inForce: InForce): void {
    this.#inForce = inForce;
  }
}
