import { describe } from 'vitest';
import { whyNoMachinePhp } from '../../src/hosting/runtime/machine/machine.fixture.ts';
import { testOperations } from './cases.ts';
import { startEmbeddedPlatform } from './embedded.fixture.ts';

describe.skipIf((await whyNoMachinePhp()) !== null)('on the PHP of the machine', () => {
  testOperations(() => startEmbeddedPlatform({ HOMEPORT_EMBEDDED_PHP: 'machine' }));
});
