/** A platform that a test kills: prints the id of its isolated process, and runs a task that never ends. */
import { createIsolatedProcess } from './isolated-process.ts';
import { isolatedTask } from './isolated-task.ts';

type Tasks = typeof import('./tasks.fixture.ts');
const module = new URL('./tasks.fixture.ts', import.meta.url);

const isolated = createIsolatedProcess({ memoryMb: 160, limitMs: 60_000, maxBytes: 1_024 });
process.stdout.write(`${await isolated.run(isolatedTask<Tasks['pid']>(module, 'pid'), null)}\n`);
await isolated.run(isolatedTask<Tasks['untilAborted']>(module, 'untilAborted'), null);
