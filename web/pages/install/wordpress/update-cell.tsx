import { Badge } from '../../../components/notice.tsx';

/** The version of an available update, and whether WordPress installs it automatically. */
export function UpdateCell({
  update,
  isAutomatic,
}: {
  update: { version: string } | null;
  isAutomatic: boolean;
}) {
  return (
    <>
      {update !== null && <Badge tone="busy">{update.version}</Badge>} {isAutomatic && 'automatic'}
    </>
  );
}
