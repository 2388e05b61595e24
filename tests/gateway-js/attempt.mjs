// One test: whether it passed, within a deadline.

const DEADLINE_MS = 30_000;

export async function attempt(title, run) {
  let timer;
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('it hangs')), DEADLINE_MS);
  });
  try {
    await Promise.race([run(), deadline]);
    return true;
  } catch (raised) {
    console.log(`FAILED ${title}\n       ${raised.message}`);
    return false;
  } finally {
    clearTimeout(timer);
  }
}
