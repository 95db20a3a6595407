import { readFileSync, writeFileSync } from 'node:fs';
import { withSettingsTable } from '../src/config-table.ts';

/** Writes the table of settings into README.md: `npm run docs:settings`, after every change of src/settings.ts. */
const readme = new URL('../README.md', import.meta.url);
writeFileSync(readme, withSettingsTable(readFileSync(readme, 'utf8')));
