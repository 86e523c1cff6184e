// The official clients list and call the tools of the command as it ships: v2's package, v1's, and the Inspector's CLI.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { bin, inherited, node } from '../support/process.ts';
import { RecipeHost } from '../support/recipe-service.ts';

const info = { name: 'test', version: '1' };
const rows = [{ email: 'a@b.example' }];

function command(host: RecipeHost) {
  const args = [bin, 'mcp', '--base-url', host.baseUrl];
  return { command: node, args, env: { ...inherited(), WARMWARDEN_API_KEY: host.key } };
}

describe('the official client, version 2', () => {
  it.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)('lists and calls a tool as %o', async (mode) => {
    await using host = await RecipeHost.start();
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(command(host)));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['at-risk', 'get_run', 'cancel_run']);
    const result = await client.callTool({ name: 'at-risk', arguments: {} });
    expect(result.structuredContent).toMatchObject({ status: 'succeeded', rows });
    await client.close();
  });

  it('hears how far the run is', async () => {
    await using host = await RecipeHost.start();
    const running = { status: 200, body: { id: 'run-1', status: 'running' } };
    host.run = RecipeHost.inTurn(running, running, { status: 200, body: { id: 'run-1', status: 'done', rows } });
    const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport(command(host)));
    const notified: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => notified.push(progress);
    const result = await client.callTool({ name: 'at-risk', arguments: {} }, { onprogress });
    expect(result.structuredContent).toMatchObject({ rows });
    expect(notified).toEqual([1, 2]);
    await client.close();
  });
});

it('the official client, version 1, lists and calls a tool, and finds the result as its output schema says', async () => {
  await using host = await RecipeHost.start();
  const client = new OldClient(info);
  await client.connect(new OldStdioClientTransport(command(host)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['at-risk', 'get_run', 'cancel_run']);
  // The client throws when structuredContent is not what the output schema says.
  const result = await client.callTool({ name: 'at-risk', arguments: {} });
  expect(result.structuredContent).toMatchObject({ status: 'succeeded', rows });
  const refused = await client.callTool({ name: 'get_run', arguments: { run_id: '' } });
  expect(refused.isError).toBe(true);
  await client.close();
});

/** The Inspector's launcher; `npm run proofs` installs it, for it is too large for a devDependency. */
const inspector = process.env['WARMWARDEN_INSPECTOR'];

describe.skipIf(inspector === undefined)("the Inspector's command line", () => {
  const inspect = async (host: RecipeHost, ...args: readonly string[]) => {
    const target = [node, bin, 'mcp', '--base-url', host.baseUrl, '-e', `WARMWARDEN_API_KEY=${host.key}`];
    return promisify(execFile)(node, [inspector ?? '', '--cli', ...target, ...args]);
  };

  it('lists the tools, and finds their schemas portable', async () => {
    await using host = await RecipeHost.start();
    const { stdout, stderr } = await inspect(host, '--method', 'tools/list', '--strict');
    expect(JSON.parse(stdout).tools.map(({ name }: { name: string }) => name)).toContain('at-risk');
    expect(stderr).not.toMatch(/warning|error/i);
  });

  it('calls a tool', async () => {
    await using host = await RecipeHost.start();
    const { stdout } = await inspect(host, '--method', 'tools/call', '--tool-name', 'at-risk');
    expect(JSON.parse(stdout).structuredContent).toMatchObject({ status: 'succeeded', rows });
  });
});
