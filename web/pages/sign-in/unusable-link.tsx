import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ApiFailure } from '../../api/failure.ts';
import { Notice } from '../../components/notice.tsx';

export const isUnusable = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/**
 * Shown for a link that was used, has expired, was replaced or was truncated. The server does not say which.
 * `children` says what to do.
 */
export function UnusableLink({ children }: { children: ReactNode }) {
  return (
    <Notice tone="bad" title="This link does not work" role="alert">
      <p>The link was used before, has expired or was replaced by a newer one. {children}</p>
      <p>
        If you have used it, <Link href="/sign-in">sign in</Link>.
      </p>
    </Notice>
  );
}
