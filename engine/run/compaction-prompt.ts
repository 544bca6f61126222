/** The message that asks the model for a summary when the conversation has grown too long. */
export const compactionPrompt = `The conversation has grown too long and is about to be cut. Summarize your work so far for yourself: you will continue
from your summary, from a list of the files you changed and read and of the commands you ran, and from the last few steps. Everything
else will be gone.

Write these sections, each as short as possible without losing what you need. Call no tool.

Goal: what the user asked for, with every condition, and what was ruled out.
Found: what you learned about the code, the environment and the causes of problems; names, places and values that matter.
Done: what you changed and why, and how you checked it.
Failed: what you tried that did not work, so that you do not try it again.
Open steps: what is left to do, in order, with the next step first.`

/** The text that introduces the summary in the shortened conversation. */
export const summaryIntroduction = `The conversation before this point was too long and was cut. This is a summary of it; its last steps follow unchanged.
Continue from here. Do not start again, and do not repeat what is done.`
