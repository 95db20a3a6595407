// Writes the table of settings into configuration.md from their declarations: `npm run docs:settings`.
import { readFileSync, writeFileSync } from 'node:fs';
import { withSettingsTable } from '../src/config/settings-table.ts';

const page = new URL('configuration.md', import.meta.url);
writeFileSync(page, withSettingsTable(readFileSync(page, 'utf8')));
