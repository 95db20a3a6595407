import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ApiFailure } from '../../api/failure.ts';
import { Notice } from '../../components/notice.tsx';

export const isUnusable = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/** Used, too old, replaced by a newer one, or cut off by a mail program: nobody can tell which. `children`: what to do. */
export function UnusableLink({ children }: { children: ReactNode }) {
  return (
    <Notice tone="bad" title="This link does not work" role="alert">
      <p>It was used already, it is too old, or a newer one has taken its place. {children}</p>
      <p>
        If it was you who used it, <Link href="/sign-in">sign in</Link>.
      </p>
    </Notice>
  );
}
