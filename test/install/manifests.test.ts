// What docs/install ships: each configuration is valid where its files are, what one file names another one has, nothing waits for us.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { root } from '../support/process.ts';

const folder = join(root, 'docs/install');
const machine = folderOfFile();
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const sha256 = 'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78';

const secretOf = (name: string) =>
  name.includes('url') ? 'https://hooks.example/x' : name.includes('ca') ? authority : 'sk_live_0123456789abcdef';
const authority = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';

/** The configuration on a machine that has the secrets where the installation puts them. */
function loaded(file: string, secrets: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const text = read(file).replaceAll(/\/run\/secrets(\/warmwarden)?/g, machine);
  for (const secret of secrets) writeFileSync(join(machine, secret), secretOf(secret));
  const path = join(machine, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return loadConfig(path, environment);
}
const tokens = { OPERATOR_TOKEN_SHA256: sha256, SCRAPER_TOKEN_SHA256: sha256.replace('b5', 'c5') };

test('the configurations are valid, and keep the store where it survives', () => {
  const systemd = loaded('systemd/config.yaml', ['api-key'], { CREDENTIALS_DIRECTORY: machine });
  const compose = loaded('compose/config.yaml', ['api-key'], tokens);
  const kubernetes = loaded('kubernetes/config.yaml', ['acme-api-key', 'slack-url'], tokens);
  const stores = [systemd, compose, kubernetes].map((one) => (one.ok ? one.config.store : one.problems));
  expect(stores).toEqual([
    '/var/lib/warmwarden/warmwarden.db',
    // The image leads from there to its volume.
    join(machine, 'compose/data/warmwarden.db'),
    '/data/store/warmwarden.db',
  ]);
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain('ln -s /data /etc/warmwarden/data');
});

const compose = () => parse(read('compose/compose.yaml'), { merge: true });

test('the store of the profile postgres is the database that compose.yaml starts', () => {
  const uncommented = read('compose/config.yaml').replaceAll(/^# ((?:store| {2}\w+):.*)$/gm, '$1');
  const { services, volumes } = compose();
  const { postgres, warmwarden } = services;
  const path = join(machine, 'postgres.yaml');
  writeFileSync(path, uncommented.replaceAll('/run/secrets', machine));
  const one = loadConfig(path, { ...tokens, POSTGRES_PASSWORD: 'of-a-test', HOSTNAME: 'one' });
  const place = { host: 'postgres', user: 'warmwarden', password: 'of-a-test', tls: { kind: 'off' } };
  expect(one.ok ? one.config.store : one.problems).toMatchObject({
    ...place,
    path: join(machine, 'data/one/warmwarden-postgres'),
  });
  expect([postgres.profiles, postgres.environment.POSTGRES_USER]).toEqual([['postgres'], 'warmwarden']);
  expect(warmwarden.environment).toHaveProperty('POSTGRES_PASSWORD');
  expect(warmwarden.depends_on.postgres).toEqual({ condition: 'service_healthy', required: false });
  for (const volume of postgres.volumes) expect(volumes).toHaveProperty(volume.split(':')[0]);
});

test('what compose.yaml mounts and builds is there', () => {
  const { services } = compose();
  const volumes: string[] = Object.values<{ volumes?: string[] }>(services).flatMap(({ volumes = [] }) => volumes);
  const mounted = volumes.filter((one) => one.startsWith('.')).map((one) => one.slice(0, one.indexOf(':')));
  expect(mounted.length).toBeGreaterThan(5);
  for (const path of mounted)
    expect(readdirSync(join(folder, 'compose', dirname(path)))).toContain(path.split('/').at(-1));
  expect(join(folder, 'compose', services.warmwarden.build, '/')).toBe(root);
});

test('Kubernetes: every file belongs to a kustomization, and names meet', () => {
  const names = readdirSync(join(folder, 'kubernetes')).filter((name) => name.endsWith('.yaml'));
  const { resources, configMapGenerator } = parse(read('kubernetes/kustomization.yaml'));
  expect([...resources, ...configMapGenerator[0].files, 'kustomization.yaml'].sort()).toEqual(names.sort());
  const one = (file: string) => parseAllDocuments(read(`kubernetes/${file}`))[0]?.toJS();
  const { spec } = one('deployment.yaml').spec.template;
  const labels = one('deployment.yaml').spec.template.metadata.labels;
  expect(one('deployment.yaml').spec.selector.matchLabels).toEqual(labels);
  expect(one('service.yaml').spec).toMatchObject({ publishNotReadyAddresses: true, selector: labels });
  expect(one('network-policy.yaml').spec.podSelector.matchLabels).toEqual(labels);
  expect(one('disruption-budget.yaml').spec.selector.matchLabels).toEqual(labels);
  expect(one('monitoring/pod-monitor.yaml').spec.selector.matchLabels).toEqual(labels);
  expect(spec.volumes[0].configMap.name).toBe(configMapGenerator[0].name);
  const [{ livenessProbe, readinessProbe, ports }] = spec.containers;
  expect([livenessProbe.httpGet.path, readinessProbe.httpGet.path, ports[0].containerPort]).toEqual([
    ...['/healthz', '/readyz', 7025],
  ]);
});

test('Kubernetes: an active process and a standby have a database, and no file', () => {
  const folder = 'kubernetes-replicas';
  const secrets = ['acme-api-key', 'slack-url', 'postgres-password', 'postgres-ca'];
  const one = loaded(`${folder}/config.yaml`, secrets, tokens);
  expect(one.ok ? one.config.store : one.problems).toMatchObject({
    tls: { kind: 'verify', ca: authority.trim() },
    path: '/data/store/warmwarden-postgres',
  });
  const { spec } = parse(read(`${folder}/deployment.yaml`));
  const { volumes } = spec.template.spec;
  expect(volumes).toEqual([{ name: 'store', persistentVolumeClaim: null, emptyDir: { sizeLimit: '64Mi' } }]);
});
