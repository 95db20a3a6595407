/**
 * Generates clients from the description with public generators, compiles them, and uses each against a running Homeport:
 * `npm run generators`. Downloads the generators to a folder (`--tools FOLDER`, by default in the temporary folder) and skips
 * those whose language is not installed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { has } from '../missing-programs.ts';
import { GENERATORS } from './generators.ts';
import { startServer } from './server.ts';

const { values } = parseArgs({ options: { tools: { type: 'string' }, only: { type: 'string' } } });
const tools = values.tools ?? join(tmpdir(), 'homeport-generators');
mkdirSync(tools, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'homeport-clients-'));
const server = await startServer(work);
let failed = false;
try {
  const description = join(work, 'description.json');
  writeFileSync(description, JSON.stringify(server.description));
  console.log('generator               | model files | outcome');
  for (const generator of GENERATORS.filter(({ name }) => name === (values.only ?? name))) {
    const missing = generator.programs.filter((program) => !has(program));
    const outcome =
      missing.length > 0
        ? { models: '', text: `skipped: no ${missing.join(', ')}` }
        : await generator
            .run({ tools, folder: join(work, generator.name), description, environment: server.environment })
            .then(
              (models) => ({
                models: String(models),
                text: 'compiles, creates and lists a site, reads an error',
              }),
              (error: unknown) => {
                failed = true;
                return {
                  models: '',
                  text: `FAILED: ${error instanceof Error ? error.message : String(error)}`,
                };
              },
            );
    console.log(`${generator.name.padEnd(23)} | ${outcome.models.padStart(11)} | ${outcome.text}`);
  }
} finally {
  await server.stop();
  rmSync(work, { recursive: true });
}
process.exitCode = failed ? 1 : 0;
