import { isUnderWay, useOperations } from '../../../api/operations.ts';
import { ProgressBar } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';

const SHOWN = 3;

/** What was restored or copied into this install of late, and what is being put into it; of a copy under way the page itself tells. */
export function Restores({ installId }: { installId: string }) {
  const restores =
    useOperations(installId)
      .data?.results.filter(({ kind }) => kind === 'restore_backup' || kind === 'copy_install')
      .slice(0, SHOWN) ?? [];
  if (restores.length === 0) return null;
  return (
    <Section title="Restores and copies">
      {restores.some((one) => one.kind === 'restore_backup' && isUnderWay(one)) && (
        <ProgressBar label="A backup is being restored" />
      )}
      <ul className={operationStyles.list} aria-live="polite">
        {restores.map((operation) => (
          <OperationItem key={operation.id} operation={operation} />
        ))}
      </ul>
    </Section>
  );
}
