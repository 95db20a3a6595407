import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { chooseMachinePhp, whyNoMachinePhp } from '../../runtime/machine/machine.fixture.ts';
import { cronCases } from '../../websites/cron/cron-cases.fixture.ts';
import { readingCases } from '../../websites/reading/reading-cases.fixture.ts';
import { startOperatedWebsite } from './operated-website.fixture.ts';

let folder: string;

describe.skipIf((await whyNoMachinePhp()) !== null)('on the PHP of the machine', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'machine-php-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  readingCases(() => startOperatedWebsite(chooseMachinePhp(folder)), cronCases);
});
