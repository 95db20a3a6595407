/**
 * `bin/node tools/release/stage-here.ts FOLDER`: copies what runs of this folder, which is built, into another one. The image is made with
 * it: a release is made from a commit, and an image from the files that are there.
 */
import { join, resolve } from 'node:path';
import { commitOf } from '../../src/lib/program-version.ts';
import { stageBuilt } from './stage.ts';

const ROOT = join(import.meta.dirname, '../..');
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder for what runs.');
// Caches of browsers compare the times of the portal's files, so each build has its own.
const commitTime = Math.floor(Date.now() / 1_000);
await stageBuilt({ clone: ROOT, stage: resolve(folder), commit: commitOf(ROOT), commitTime });
