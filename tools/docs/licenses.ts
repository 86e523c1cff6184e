// docs/licenses.md: what the package installs, with its licenses, from package-lock.json.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      devOptional: z.boolean().optional(),
      link: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** As the package says it: an SPDX expression; null when it says none. */
  readonly license: string | null;
  readonly hasInstallScript: boolean;
}

/** What `npm install warmwarden` brings, in the order of the names. */
export function installedPackages(): readonly InstalledPackage[] {
  const lock = lockSchema.parse(JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')));
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link)
    .map(([path, { version = '', license = null, hasInstallScript = false }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { name, version, license: license, hasInstallScript };
    })
    .sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1));
}

/** Ends with a line break. */
export function licensesText(): string {
  const rows = installedPackages().map(({ name, license }) => `| ${name} | ${license ?? 'none'} |`);
  return `# Licenses

<!-- Written by \`npm run docs\` from package-lock.json. -->

Warmwarden has the MIT license. It installs these packages. None of them runs a script when it is installed. The versions are in
\`package-lock.json\` and in the SBOM of each release ([releasing](releasing.md)).

| package | license |
| --- | --- |
${[...new Set(rows)].join('\n')}
`;
}
