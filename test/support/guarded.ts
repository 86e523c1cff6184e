// A daemon in a process of its own that guards the other API and tells a receiver: the stage of most scenarios.
import { OtherApi, type OtherKey } from './other-api.ts';
import { type Running, runDaemon, Workplace } from './process.ts';
import { Receiver } from './receiver.ts';
import { type Scrape, scrape } from './scrape.ts';

const kinds = ['health', 'mailboxes', 'stats', 'warmup', 'mailbox', 'dns', 'blacklist'];
export const everyTwoSeconds = Object.fromEntries(kinds.map((kind) => [kind, '*/2 * * * * *']));

export interface StageOptions {
  readonly key?: Partial<OtherKey>;
  /** Keys of the account that differ. */
  readonly account?: object;
  /** Keys of the file that differ. */
  readonly file?: object;
}

export class Stage implements AsyncDisposable {
  readonly api: OtherApi;
  readonly receiver: Receiver;
  readonly workplace = new Workplace();
  readonly key: string;
  readonly config: string;
  #daemon: Running | null = null;

  private constructor(api: OtherApi, receiver: Receiver, options: StageOptions) {
    this.api = api;
    this.receiver = receiver;
    this.key = api.addKey(options.key);
    this.config = this.workplace.configure(this.#file(options));
  }

  /** API and receiver listen; nothing guards yet. */
  static async open(options: StageOptions = {}): Promise<Stage> {
    return new Stage(await OtherApi.start(), await Receiver.start(), options);
  }

  /** Starts the daemon (again, on the same store). It need not be on duty yet. */
  start(env: NodeJS.ProcessEnv = {}): Running {
    this.#daemon = runDaemon(this.config, env);
    return this.#daemon;
  }

  /** The newest daemon. */
  get daemon(): Running {
    if (!this.#daemon) throw new Error('no daemon was started');
    return this.#daemon;
  }

  async metrics(): Promise<Scrape> {
    return scrape(await this.daemon.onDuty());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
    await this.receiver[Symbol.asyncDispose]();
    this.workplace[Symbol.dispose]();
  }

  #file({ account, file }: StageOptions): object {
    const { slackUrl, hookUrl, secret } = this.receiver;
    return {
      // Far over what a test asks for, and no pause between requests: the rate limit has a scenario of its own.
      accounts: [
        {
          name: 'acme',
          base_url: this.api.url,
          api_key: this.key,
          requests_per_minute: 6_000,
          headroom: '0%',
          ...account,
        },
      ],
      poll: everyTwoSeconds,
      alerts: {
        channels: [
          { name: 'ops', type: 'slack', url: slackUrl },
          { name: 'hook', type: 'webhook', url: hookUrl, secret },
        ],
        group_wait: '0s',
        group_interval: '1s',
      },
      store: { url: 'sqlite:./data/warmwarden.db' },
      server: { listen: '127.0.0.1:0' },
      log: { level: 'debug' },
      ...file,
    };
  }
}
