import { testOperations } from '../operations/cases.ts';
import { startPlatform } from './platform.ts';
import { createPreparedMachine } from './prepared.ts';

testOperations(async () =>
  startPlatform(await createPreparedMachine({ HOMEPORT_WP_CLI_SOURCE: 'packaged' })),
);
