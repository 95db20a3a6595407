import { isUnderWay, useOperations } from '../../../api/operations.ts';
import { ProgressBar } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';

const SHOWN = 3;

/** Current and recent restores and copies into this install. A copy in progress also has a notice above the page. */
export function Restores({ installId }: { installId: string }) {
  const restores =
    useOperations(installId)
      .data?.results.filter(({ kind }) => kind === 'backup.restore' || kind === 'install.copy')
      .slice(0, SHOWN) ?? [];
  if (restores.length === 0) return null;
  return (
    <Section title="Restores and copies">
      {restores.some((one) => one.kind === 'backup.restore' && isUnderWay(one)) && (
        <ProgressBar label="Restoring a backup" />
      )}
      <ul className={operationStyles.list} aria-live="polite">
        {restores.map((operation) => (
          <OperationItem key={operation.id} operation={operation} />
        ))}
      </ul>
    </Section>
  );
}
