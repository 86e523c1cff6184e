// `mcp_client.mjs PACKAGE COMMAND...`: the official client of this npm package lists the tools, and calls one.
const [name, command, ...args] = process.argv.slice(2);
const old = name === '@modelcontextprotocol/sdk';
const { Client } = await import(old ? `${name}/client/index.js` : name);
const { StdioClientTransport } = await import(old ? `${name}/client/stdio.js` : `${name}/stdio`);
const client = new Client({ name: 'trial', version: '1' });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const { structuredContent, isError } = await client.callTool({ name: 'fleet-overview', arguments: {} });
if (isError || structuredContent.row_count !== 12) throw new Error(JSON.stringify(structuredContent));
process.stdout.write(`${tools.length} tools\n`);
await client.close();
