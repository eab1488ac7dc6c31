"""Shorten the conversation that a ReAct agent sends to its model."""


def shortened(messages, most):
    """Return the messages to send, at most `most` of them (2 or more), in their order.

    `messages` are pairs of a role and a text. The first two are the rules and the goal, which are always sent. Then
    come turns: a turn starts with a message of the "model" and continues with the answers of one or more "tool" calls.
    The service refuses an answer without its question, and a question without its answers, so a turn is sent whole or
    not at all. Send as many of the latest turns as fit, without a gap.
    """
    return messages[-most:]


TRAINS = [("rules", "Call tools, one turn at a time."), ("goal", "Find a train to Graz that arrives before noon.")]
TRAINS += [("model", "stations of Vienna"), ("tool", "Hbf, Meidling, West")]
TRAINS += [("model", "trains from Hbf, and from Meidling"), ("tool", "6:58, 8:58"), ("tool", "7:05, 9:05")]
TRAINS += [("model", "arrival of the 8:58"), ("tool", "11:33")]

if __name__ == "__main__":
    for who, text in shortened(TRAINS, 6):
        print(f"{who}: {text}")
