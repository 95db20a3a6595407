import { testOperations } from '../operations/cases.ts';
import { createTestMachine } from './machine.ts';
import { startPlatform } from './platform.ts';

testOperations(async () => startPlatform(await createTestMachine({ HOMEPORT_WP_CLI_SOURCE: 'packaged' })));
