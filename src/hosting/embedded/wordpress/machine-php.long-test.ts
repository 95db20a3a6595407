import { describe } from 'vitest';
import { THIS_PHP, whyNoMachinePhp } from '../../runtime/machine/machine.fixture.ts';
import { cronCases } from '../../websites/cron/cron-cases.fixture.ts';
import { readingCases } from '../../websites/reading/reading-cases.fixture.ts';
import { startOperatedWebsite } from './operated-website.fixture.ts';

describe.skipIf((await whyNoMachinePhp()) !== null)('on the PHP of the machine', () => {
  readingCases(() => startOperatedWebsite(THIS_PHP), cronCases);
});
