import { Badge } from '../../../components/notice.tsx';

/** The version of an available update, and whether WordPress installs it automatically. */
export function UpdateCell({
  update,
  isAutomatic,
}: {
  update: { version: string } | null;
  isAutomatic: boolean;
}) {
  // An empty cell has no header on phones.
  if (update === null && !isAutomatic) return null;
  return (
    <>
      {update !== null && <Badge tone="busy">{update.version}</Badge>} {isAutomatic && 'automatic'}
    </>
  );
}
