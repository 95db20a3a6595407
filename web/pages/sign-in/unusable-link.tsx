import type { ReactNode } from 'react';
import { ApiFailure } from '../../api/failure.ts';
import { Notice } from '../../components/notice.tsx';

export const isUnusable = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/** Used, too old, replaced by a newer one, or cut off by a mail program: nobody can tell which. `children`: what to do. */
export function UnusableLink({ children }: { children: ReactNode }) {
  return (
    <Notice tone="bad" title="This link does not work" role="alert">
      It was used already, it is too old, or a newer one has taken its place. {children}
    </Notice>
  );
}
