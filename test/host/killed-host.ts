/** Runs a host that kills itself with SIGKILL after a given provisioning step. Arguments: instance, step. */
import { pino } from 'pino';
import { startHostMachine } from '../../src/app/linux-host.ts';
import { readConfig } from '../../src/config/config.ts';
import { codeOfProcess } from './machine.ts';

const [, , instance, step] = process.argv;
if (instance === undefined || step === undefined) throw new Error('usage: killed-host.ts <instance> <step>');

await startHostMachine(readConfig(process.env), {
  instance,
  compilesWordpress: false,
  code: codeOfProcess(),
  log: pino({ level: 'error' }, pino.destination(2)),
  reached(reached) {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write('ready\n');
