/** Runs a host until it is stopped. Argument: instance. */
import { pino } from 'pino';
import { startHostMachine } from '../../src/app/linux-host.ts';
import { readConfig } from '../../src/config/config.ts';
import { codeOfProcess } from './machine.ts';

const [, , instance] = process.argv;
if (instance === undefined) throw new Error('usage: own-host.ts <instance>');

const machine = await startHostMachine(readConfig(process.env), {
  instance,
  compilesWordpress: false,
  code: codeOfProcess(),
  log: pino({ level: 'error' }, pino.destination(2)),
});
process.once('SIGTERM', () => void machine.stop().then(() => process.exit(0)));
process.stdout.write('ready\n');
