import { expect, it } from 'vitest';
import { candidatesIn } from './debian-package.ts';

it('knows which packages could be installed, and in which version', () => {
  const policy = `wordpress:
  Installed: (none)
  Candidate: 6.1.9+dfsg1-0+deb12u1
  Version table:
     6.1.9+dfsg1-0+deb12u1 500
        500 http://mirror.example/debian bookworm/main amd64 Packages
node-lodash:
  Installed: 4.17
  Candidate: 4.17.21
libjs-gone:
  Installed: (none)
  Candidate: (none)
`;
  expect([...candidatesIn(policy)]).toEqual([
    ['wordpress', '6.1.9+dfsg1-0+deb12u1'],
    ['node-lodash', '4.17.21'],
  ]);
  expect(candidatesIn('').size).toBe(0);
});
