const icon = new URL('../icon.svg', import.meta.url).href;

/** The icon and the name of the portal. */
export function Brand() {
  return (
    <>
      <img src={icon} alt="" />
      Homeport
    </>
  );
}
