// A real process that crashes: it starts itself again, unless something else does.
import { expect, it } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { until } from '../support/until.ts';

/** Makes the process throw where nothing catches it, at a signal. */
const faulty = `process.on('SIGUSR2', () => setTimeout(() => { throw new TypeError('a mistake of ours'); }))`;
const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(faulty)}"` };

it('starts again in the same process, with the reason, and once a minute at most; under Kubernetes it ends with exit code 1', async () => {
  await using stage = await Stage.open();
  const daemon = stage.start(env);
  const onDuty = () => daemon.log.filter(({ msg }) => msg === 'on duty');
  await until('the daemon to be on duty', () => onDuty().length === 1);
  daemon.kill('SIGUSR2');
  await until('the daemon to be on duty again', () => onDuty().length === 2);
  const [first, second] = onDuty();
  expect(second?.['pid']).toBe(first?.['pid']);
  const line = await daemon.said('Warmwarden ends');
  expect(line).toMatchObject({ level: 'error', err: { message: 'a mistake of ours' } });
  const crashes = () => stage.receiver.alerts().filter(({ rule }) => rule === 'crashed');
  await until('the message', () => crashes().length > 0);
  expect(crashes()[0]).toMatchObject({ status: 'firing', severity: 'critical' });
  daemon.kill('SIGUSR2');
  await until('the pause after the second crash', () => /starts again in [3-6]\d s/.test(daemon.stderr));
  expect(onDuty()).toHaveLength(2);
  daemon.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);

  const supervised = stage.start({ ...env, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
  await supervised.onDuty();
  supervised.kill('SIGUSR2');
  expect((await supervised.ended).code).toBe(1);
});
