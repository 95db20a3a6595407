import { outputOf, run } from './run.ts';

/** Names the author of commits. A clone has no settings of its repository. */
const IDENTITY = ['user.name', 'user.email'];

/** Clones a branch of the repository `root`, in which the same person commits. */
export async function cloneForRelease(root: string, branch: string, clone: string): Promise<void> {
  await run('git', ['clone', '--quiet', '--branch', branch, root, clone], root);
  for (const name of IDENTITY) {
    const value = await outputOf('git', ['config', '--default', '', '--get', name], root);
    if (value !== '') await run('git', ['config', name, value], clone);
  }
}

/** Tags the present commit. `message`: with its headings, which git takes for comments otherwise. */
export async function tagRelease(clone: string, tag: string, message: string): Promise<void> {
  await run('git', ['tag', '--annotate', tag, '--cleanup', 'whitespace', '--message', message], clone);
}

/**
 * Takes the commits and the tag of a release from the clone into `root`. Throws an Error and changes nothing if the branch has new commits
 * there, or if another branch is checked out by now.
 */
export async function takeRelease(
  root: string,
  clone: string,
  { branch, tag }: { branch: string; tag: string },
): Promise<void> {
  await requireBranch(root, branch);
  // The tag last: a fetch would leave it behind if the branch cannot follow.
  await run('git', ['fetch', '--quiet', '--no-tags', clone, branch], root);
  await run('git', ['merge', '--quiet', '--ff-only', 'FETCH_HEAD'], root);
  await run('git', ['fetch', '--quiet', '--no-tags', clone, `refs/tags/${tag}:refs/tags/${tag}`], root);
}

/** Throws an Error unless that branch is checked out. */
export async function requireBranch(root: string, branch: string): Promise<void> {
  const present = await outputOf('git', ['branch', '--show-current'], root);
  if (present !== branch) throw new Error(`This is the branch ${present}. Releases are made from ${branch}.`);
}
