// A daemon ends at its signals: at the first within its steps, at the second at once.
import { describe, expect, it } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { emergencyWeek } from '../support/other-api.ts';
import { until } from '../support/until.ts';

describe.concurrent('a daemon', () => {
  it('ends at once at a second signal', async () => {
    await using stage = await Stage.open();
    // A write is given its time when the daemon stops, for its answer matters: so it would wait.
    stage.api.fault = ({ method }) => (method === 'POST' ? { kind: 'delay', ms: 30_000 } : undefined);
    stage.api.add('a@a.example', { days: emergencyWeek });
    stage.start();
    await until('a write that hangs', () => stage.api.log.some(({ method }) => method === 'POST'));
    stage.daemon.kill('SIGINT');
    await stage.daemon.said('stopping');
    stage.daemon.kill('SIGINT');
    expect(await stage.daemon.ended).toEqual({ code: 1, signal: null });
    expect(stage.daemon.stderr).toBe('');
  });

  it('ends at SIGTERM without waiting for an API that hangs', async () => {
    await using stage = await Stage.open();
    stage.api.add('a@a.example');
    stage.start();
    await until('the first readings', () => stage.api.reads('/v1/stats').length > 0);
    stage.api.fault = () => ({ kind: 'delay', ms: 30_000 });
    const asked = stage.api.log.length;
    await until('a request that hangs', () => stage.api.log.length > asked);
    stage.daemon.kill('SIGTERM');
    expect(await stage.daemon.ended).toEqual({ code: 0, signal: null });
    expect(stage.daemon.output).not.toContain('did not stop');
  });
});
