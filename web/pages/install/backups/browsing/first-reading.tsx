import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { waitsForReading } from '../../../../api/backup-contents.ts';
import { Loaded } from '../../../../components/loaded.tsx';
import { Notice, ProgressBar } from '../../../../components/notice.tsx';

/** As {@link Loaded}, with a notice while the host reads the backup for the first time. */
export function LoadedContent<Data>({
  query,
  what,
  children,
}: {
  query: UseQueryResult<Data>;
  what: string;
  children(data: Data): ReactNode;
}) {
  if (waitsForReading(query)) {
    return (
      <Notice tone="busy" role="status" title="The backup is being read">
        It was made by an earlier version, so it is read once before you can look into it. This takes minutes
        if it is large. You can leave this page; the reading goes on.
        <ProgressBar label="Reading the backup" />
      </Notice>
    );
  }
  return (
    <Loaded query={query} what={what}>
      {children}
    </Loaded>
  );
}
