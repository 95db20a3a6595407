/**
 * `npm run layers`: checks the rules of `.dependency-cruiser.mjs`, and that folders do not import each other in circles. Reads the imports
 * once for both, which takes 10 s of a processor.
 */
import { cruise, format } from 'dependency-cruiser';
import optionsOf from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { folderCircles } from './folder-circles.ts';

const SOURCES = ['src', 'web', 'packages', 'bench', 'test', 'bin', 'tools'];
/** Tests start whole servers. */
const TESTS = /(\.|-)(test|fixture)\.tsx?$/;

const { output: result } = await cruise(SOURCES, await optionsOf('./.dependency-cruiser.mjs'));
if (typeof result === 'string') throw new Error('dependency-cruiser has written a text');
const { output: text, exitCode } = await format(result, { outputType: 'err' });
process.stdout.write(`${text}`);

const isFollowed = ({ source }: { source: string }) => !source.includes('node_modules/');
const circles = folderCircles(result.modules.filter(isFollowed), (file) => TESTS.test(file));
for (const circle of circles) process.stdout.write(`Folders import each other: ${circle.join(' → ')}\n`);
process.exitCode = exitCode === 0 && circles.length === 0 ? 0 : 1;
