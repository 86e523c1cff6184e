// A real Alertmanager: one route that groups as our messages do, and sends to a webhook.
import { freePort } from './free-port.ts';
import { Program } from './program.ts';

/** An alert as GET /api/v2/alerts shows it, as far as tests read it. */
export interface HeldAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly fingerprint: string;
}

export class Alertmanager extends Program {
  /** Starts it and waits until it answers. */
  static async start(program: string, webhook: string): Promise<Alertmanager> {
    const alertmanager = new Alertmanager(program, await freePort());
    const route = { receiver: 'hook', group_by: ['account', 'alertname'], group_wait: '1s', group_interval: '1s' };
    const receivers = [{ name: 'hook', webhook_configs: [{ url: webhook, send_resolved: true }] }];
    alertmanager.write('alertmanager.yml', { route: { ...route, repeat_interval: '1h' }, receivers });
    await alertmanager.start();
    return alertmanager;
  }

  /** Starts it again, on the same port and storage. */
  async start(): Promise<void> {
    await this.run([
      `--config.file=${this.path('alertmanager.yml')}`,
      `--storage.path=${this.path('data')}`,
      `--web.listen-address=${new URL(this.url).host}`,
      '--cluster.listen-address=',
    ]);
  }

  async alerts(): Promise<readonly HeldAlert[]> {
    return (await (await fetch(`${this.url}/api/v2/alerts`)).json()) as readonly HeldAlert[];
  }
}
