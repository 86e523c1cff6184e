// The real Apprise behind the answers of its API: messages reach ntfy and Gotify. What it does not pass on: presets.test.ts.
import { spawn } from 'node:child_process';
import { beforeEach, expect, test } from 'vitest';
import { type ChannelSettings, channelSettings, createChannel } from '../../src/channels/channels.ts';
import type { Severity } from '../../src/core/alert-rules.ts';
import { hourMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { type Receiver, startReceiver } from '../outbox/receiver.ts';
import { rigWith } from '../outbox/rig.ts';
import { ending } from '../support/ending.ts';
import { people } from './people.ts';

/** A Python with Apprise; `npm run proofs` installs it. With CI set, it must be there. */
const python = process.env['WARMWARDEN_APPRISE'] ?? '';
beforeEach(({ skip }) =>
  skip(python === '' && !process.env['CI'], 'WARMWARDEN_APPRISE names no Python that has Apprise'),
);

/** POST /add/KEY and /notify/KEY as https://github.com/caronc/apprise-api#api-details describes them; PyPI has no Apprise API. */
const api = `
import json, apprise
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

saved = {}

class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        _, route, key = self.path.split("/")
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if route == "add":
            saved[key] = asked["urls"]
            return self.answer(200, None)
        if not asked.get("body") or asked.get("type", "info") not in ("info", "success", "warning", "failure"):
            return self.answer(400, "An invalid payload was specified")
        if not saved.get(key):
            return self.answer(204, "There was no configuration found")
        services = apprise.Apprise(asset=apprise.AppriseAsset(body_format=asked.get("format")))
        services.add(saved[key])
        told = services.notify(asked["body"], title=asked.get("title", ""), notify_type=asked.get("type", "info"))
        return self.answer(200, None) if told else self.answer(424, "One or more notification could not be sent")

    def answer(self, status, error):
        body = json.dumps({"error": error, "details": []}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
print(server.server_port, flush=True)
server.serve_forever()
`;

async function startApi() {
  const child = spawn(python, ['-c', api], { stdio: ['ignore', 'pipe', 'ignore'] });
  const { value: port } = await child.stdout[Symbol.asyncIterator]().next();
  if (port === undefined) throw new Error(`${python} ended: is Apprise installed?`);
  const url = `http://127.0.0.1:${Number(port)}`;
  const save = (key: string, urls: string) =>
    fetch(`${url}/add/${key}`, { method: 'POST', body: JSON.stringify({ urls }) });
  return { url, save, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

const severities = ['critical', 'warning', 'info'] as const;

/** A rig whose channel has a key a severity; nothing is saved under the keys. */
async function stage() {
  const [apprise, ntfy, gotify] = await Promise.all([startApi(), startReceiver(), startReceiver()]);
  const urls = Object.fromEntries(severities.map((one) => [`${one}_url`, `${apprise.url}/notify/${one}`]));
  const written = { name: 'all', type: 'apprise', url: `${apprise.url}/notify/other`, ...urls };
  const settings = channelSettings.parse(written) as ChannelSettings;
  const routes = [{ match: { severity: [...severities] }, channels: ['all'] }];
  const rig = rigWith((_clock, world) => [createChannel(settings, { world, ...people })], { routes });
  const at = (schema: string, { url }: Receiver, rest: string) => `${schema}://${new URL(url).host}/${rest}`;
  const to = { ntfy: (rest: string) => at('ntfy', ntfy, rest), gotify: (rest: string) => at('gotify', gotify, rest) };
  return { apprise, ntfy, gotify, rig, to, ...ending(rig, apprise, ntfy, gotify) };
}

/** Messages that arrived at a service, with the name and the value of a header. */
const arrived = ({ received }: Receiver, header: string) =>
  received.map(({ body, headers }) => ({ ...JSON.parse(body), [header]: headers[header] }));
const alertOf = (severity: Severity) => sampleAlert(1, { severity, account: `team-${severity}` });

test('an alert and its end arrive with title, body and type, at the key of their severity', async () => {
  await using on = await stage();
  const { apprise, ntfy, gotify, rig, to } = on;
  await apprise.save('critical', to.ntfy('pager?priority=max'));
  await apprise.save('warning', to.ntfy('desk'));
  await apprise.save('info', to.gotify('TOKEN?priority=low'));
  for (const severity of severities) rig.commit(firing(alertOf(severity)));
  await rig.clock.advance(hourMs);
  for (const severity of severities) rig.commit(resolved(alertOf(severity), rig.clock.now()));
  await rig.clock.advance(hourMs);
  expect(rig.states()).toEqual(Array.from({ length: 6 }, () => 'sent'));
  const message = (word: string, severity: Severity) => ({
    title: `${word}: bob1@acme.example: stale statistics`,
    message: expect.stringMatching(
      new RegExp(`^The statistics were read last at .*\\n\\nteam-${severity} · stale_data ·`, 's'),
    ),
  });
  const icon = (type: string) => expect.stringContaining(`apprise-${type}-`);
  expect(arrived(ntfy, 'x-icon')).toEqual([
    { topic: 'pager', ...message('Critical', 'critical'), 'x-icon': icon('failure') },
    { topic: 'desk', ...message('Warning', 'warning'), 'x-icon': icon('warning') },
    { topic: 'pager', ...message('Resolved', 'critical'), 'x-icon': icon('success') },
    { topic: 'desk', ...message('Resolved', 'warning'), 'x-icon': icon('success') },
  ]);
  // The type raises no priority; the address does, of the end as well.
  expect(ntfy.received.map(({ headers }) => headers['x-priority'])).toEqual(['max', undefined, 'max', undefined]);
  expect(arrived(gotify, 'x-gotify-key')).toEqual([
    { ...message('Info', 'info'), priority: 0, 'x-gotify-key': 'TOKEN' },
    { ...message('Resolved', 'info'), priority: 0, 'x-gotify-key': 'TOKEN' },
  ]);
});
