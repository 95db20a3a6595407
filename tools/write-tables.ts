// `npm run docs:tables`: writes the generated tables of the documentation from their declarations. Tests compare both.
import { readFileSync, writeFileSync } from 'node:fs';
import { withLogFieldsTable } from '../src/cli/platform/log-fields.ts';
import { withSettingsTable } from '../src/config/settings-table.ts';
import { withCapabilitiesTable } from '../src/hosting/policy/capabilities-table.ts';
import { withCommandsTable } from '../src/hosting/policy/commands-table.ts';

for (const [name, withTable] of [
  ['configuration.md', withSettingsTable],
  ['embedded-host.md', withCapabilitiesTable],
  ['decisions/host-commands.md', withCommandsTable],
  ['operations.md', withLogFieldsTable],
] as const) {
  const page = new URL(`../docs/${name}`, import.meta.url);
  writeFileSync(page, withTable(readFileSync(page, 'utf8')));
}
