/** Whether a text is on the clipboard now; pages that came over plain HTTP have none. */
export async function copied(text: string): Promise<boolean> {
  const { clipboard }: { readonly clipboard?: Clipboard } = navigator;
  if (clipboard === undefined) return false;
  // The browser may refuse: the caller shows that nothing was copied.
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
